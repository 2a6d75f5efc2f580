#!/usr/bin/env -S node --max-old-space-size=64 --max-semi-space-size=4
import { enableCompileCache } from 'node:module'
import { fileURLToPath } from 'node:url'

// Later commands start in two thirds of the time. Like `npm start`, not in the system's temporary folder, which others
// can write to. Imports are hoisted, so the program is loaded by a dynamic one.
enableCompileCache(fileURLToPath(new URL('../../../node_modules/.cache/node', import.meta.url)))
await import('./run.ts')
