// Loaded before the program: says on descriptor 3 how much memory it took at most, in KiB.
import { writeSync } from 'node:fs'

process.on('exit', () => writeSync(3, String(process.resourceUsage().maxRSS)))
