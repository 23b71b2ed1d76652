// Telling somebody who looks elsewhere that it is his turn. Asked for by a button, never by itself.

const tell = { wanted: false, sound: null };

async function wantToBeTold() {
  tell.wanted = true;
  // A browser lets only somebody who has pressed something make a sound.
  const Sound = window.AudioContext || window.webkitAudioContext;
  if (Sound && !tell.sound) tell.sound = new Sound();
  let allowed = false;
  if ('Notification' in window) allowed = (await Notification.requestPermission()) === 'granted';
  element('notify').hidden = true;
  element('notify-text').textContent = text(allowed ? 'notify_on' : 'notify_sound');
  announce(element('notify-text').textContent);
}

function tellOfTurn() {
  if (!tell.wanted) return;
  if (tell.sound) [0, 0.25, 0.5].forEach((after, n) => beep(tell.sound, 523 * (1 + n / 4), after));
  if (navigator.vibrate) navigator.vibrate([200, 100, 200]);
  if (!document.hidden || !('Notification' in window) || Notification.permission !== 'granted') return;
  try {
    const note = new Notification(text('ready_title'), { body: data.status.name, tag: data.event });
    note.onclick = () => { window.focus(); note.close(); };
  } catch { /* phones show notifications to installed pages only; there was a sound */ }
}

function beep(sound, pitch, after) {
  const [tone, volume] = [sound.createOscillator(), sound.createGain()];
  const start = sound.currentTime + after;
  tone.frequency.value = pitch;
  volume.gain.setValueAtTime(0.2, start);
  volume.gain.exponentialRampToValueAtTime(0.001, start + 0.2);
  tone.connect(volume).connect(sound.destination);
  tone.start(start);
  tone.stop(start + 0.2);
}
