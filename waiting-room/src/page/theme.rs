//! The page's template and what lies beside it: ours, or an operator's (`STANCHION_TEMPLATE_DIR`). All of it is read
//! and tried at the start, so that a broken template stops the start and no file is looked up by a path that
//! somebody sends.

use std::collections::HashMap;
use std::path::Path;

use anyhow::{Context as _, ensure};
use axum::body::Bytes;
use minijinja::value::Serde;
use minijinja::{Environment, UndefinedBehavior};

use super::languages::LANGUAGES;
use super::{Context, State};

/// Ours, which another may extend under this name.
const OURS: (&str, &str) = ("stanchion/room.html", include_str!("../assets/room.html"));
const ROOM: &str = "room.html";
const FILES_MAX: usize = 500;
const BYTES_MAX: usize = 10 << 20;

/// A file that is served as it is.
#[derive(Debug, Clone)]
pub struct Asset {
    /// Its `Content-Type`.
    pub media_type: &'static str,
    /// Its content.
    pub bytes: Bytes,
}

/// The template, and the files beside it.
#[derive(Debug)]
pub struct Theme {
    templates: Environment<'static>,
    files: HashMap<String, Asset>,
}

impl Theme {
    /// Ours, or the one in this directory.
    ///
    /// # Errors
    /// When the directory has no `room.html`, a template is broken or names what there is not, or the files
    /// are more than 500 or larger than 10 MiB together.
    pub fn load(directory: Option<&Path>) -> anyhow::Result<Self> {
        let mut templates = Environment::new();
        templates.set_undefined_behavior(UndefinedBehavior::SemiStrict);
        templates.add_template(OURS.0, OURS.1)?;
        let mut theme = Self { templates, files: HashMap::new() };
        match directory {
            None => theme.templates.add_template(ROOM, OURS.1)?,
            Some(directory) => theme.add_directory(directory)?,
        }
        theme.try_out()?;
        Ok(theme)
    }

    /// The page.
    ///
    /// # Errors
    /// When the template names what there is not.
    pub fn render(&self, context: &Context<'_>) -> Result<String, minijinja::Error> {
        self.templates.get_template(ROOM)?.render(Serde(context))
    }

    /// The file of that name below the directory.
    pub fn file(&self, name: &str) -> Option<&Asset> {
        self.files.get(name)
    }

    fn add_directory(&mut self, directory: &Path) -> anyhow::Result<()> {
        let mut bytes_left = BYTES_MAX;
        let mut directories = vec![directory.to_owned()];
        while let Some(within) = directories.pop() {
            let entries =
                std::fs::read_dir(&within).with_context(|| within.display().to_string())?;
            for entry in entries {
                let entry = entry?;
                let (path, kind) = (entry.path(), entry.file_type()?);
                if kind.is_dir() {
                    directories.push(path);
                    continue;
                }
                // A link may lead out of the directory.
                ensure!(kind.is_file(), "{}: only files and directories", path.display());
                let content = std::fs::read(&path).with_context(|| path.display().to_string())?;
                bytes_left =
                    bytes_left.checked_sub(content.len()).context("files of more than 10 MiB")?;
                let name = path.strip_prefix(directory)?.to_string_lossy().replace('\\', "/");
                self.add_file(name, content)?;
                ensure!(self.files.len() <= FILES_MAX, "more than {FILES_MAX} files");
            }
        }
        ensure!(self.templates.get_template(ROOM).is_ok(), "{}: no {ROOM}", directory.display());
        Ok(())
    }

    fn add_file(&mut self, name: String, content: Vec<u8>) -> anyhow::Result<()> {
        if name.ends_with(".html") {
            let text =
                String::from_utf8(content).with_context(|| format!("{name} is not UTF-8"))?;
            self.templates.add_template_owned(name.clone(), text).with_context(|| name)?;
            return Ok(());
        }
        let asset = Asset { media_type: media_type(&name), bytes: content.into() };
        self.files.insert(name, asset);
        Ok(())
    }

    /// Every state, once with all that may be there.
    fn try_out(&self) -> anyhow::Result<()> {
        for state in State::ALL {
            let sample = Context::sample(state, &LANGUAGES[0]);
            self.render(&sample).with_context(|| format!("{ROOM}, in the state {state:?}"))?;
        }
        Ok(())
    }
}

fn media_type(name: &str) -> &'static str {
    let extension = name.rsplit_once('.').map_or("", |(_, extension)| extension);
    match extension.to_ascii_lowercase().as_str() {
        "css" => "text/css; charset=utf-8",
        "js" | "mjs" => "text/javascript; charset=utf-8",
        "json" => "application/json",
        "txt" => "text/plain; charset=utf-8",
        "svg" => "image/svg+xml",
        "png" => "image/png",
        "jpg" | "jpeg" => "image/jpeg",
        "gif" => "image/gif",
        "webp" => "image/webp",
        "avif" => "image/avif",
        "ico" => "image/x-icon",
        "woff2" => "font/woff2",
        _ => "application/octet-stream",
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn load(files: &[(&str, &str)]) -> anyhow::Result<Theme> {
        let name = uuid::Uuid::new_v4().to_string();
        let directory = std::env::temp_dir().join(name);
        for (name, content) in files {
            let file = directory.join(name);
            std::fs::create_dir_all(file.parent().expect("below")).expect("a directory");
            std::fs::write(file, content).expect("a file");
        }
        let theme = Theme::load(Some(&directory));
        std::fs::remove_dir_all(&directory).ok();
        theme
    }

    #[test]
    fn our_own_template_renders_every_state_in_every_language_and_escapes() {
        let theme = Theme::load(None).expect("ours");
        for language in LANGUAGES.iter() {
            for state in State::ALL {
                let context = Context { name: "<b>&\"", ..Context::sample(state, language) };
                let html = theme.render(&context).expect("rendered");
                assert!(html.contains(&format!("<html lang=\"{}\" dir=", language.tag)));
                assert!(html.contains("&lt;b&gt;&amp;&quot;") && !html.contains("<b>"), "{html}");
                assert!(!html.contains("_title") && !html.contains("_text<"), "{html}");
            }
        }
    }

    #[test]
    fn what_the_script_reads_cannot_end_the_element_that_holds_it() {
        let mut context = Context::sample(State::Waiting, &LANGUAGES[0]);
        context.data = serde_json::json!({"name": "</script><script>alert(1)"});
        let html = Theme::load(None).expect("ours").render(&context).expect("rendered");
        assert!(!html.contains("</script><script>"), "{html}");
    }

    #[test]
    fn another_template_may_extend_ours_and_bring_files() {
        let room = r#"{% extends "stanchion/room.html" %}{% block footer %}<p>{{ event }}, ours</p>{% endblock %}"#;
        let theme = load(&[("room.html", room), ("img/logo.svg", "<svg/>")]).expect("loaded");
        let html = theme.render(&Context::sample(State::Ready, &LANGUAGES[0])).expect("rendered");
        assert!(html.contains("sample, ours") && html.contains("id=\"headline\""), "{html}");
        assert_eq!(theme.file("img/logo.svg").map(|file| file.media_type), Some("image/svg+xml"));
        for other in ["room.html", "../room.html", "/etc/passwd", "img", "img/../img/logo.svg"] {
            assert!(theme.file(other).is_none(), "{other}");
        }
    }

    #[test]
    fn a_broken_template_says_where() {
        for (room, expected) in [
            ("{% if %}", "room.html"),
            ("<p>{{ nmae }}</p>", "room.html"),
            ("{% extends 'other.html' %}", "other.html"),
        ] {
            let error = format!("{:#}", load(&[("room.html", room)]).expect_err(room));
            assert!(error.contains(expected), "{error}");
        }
        let error = format!("{:#}", load(&[("style.css", "")]).expect_err("no template"));
        assert!(error.contains("no room.html"), "{error}");
    }
}
