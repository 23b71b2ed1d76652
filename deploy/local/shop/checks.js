// All checks, in the order in which they are run.

import { config } from "./api.js";
import { PAYMENT } from "./checks-payment.js";
import { ROOM } from "./checks-room.js";
import { SALE } from "./checks-sale.js";

/** Those that can be run here: killing a process needs somebody who starts it again. */
export const CHECKS = [...SALE, ...PAYMENT, ...ROOM].filter((check) => config.can_restart || !check.needsRestart);
