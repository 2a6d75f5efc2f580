import { appendFileSync } from 'node:fs'
import { registerHooks } from 'node:module'

// Loaded before the service by NODE_OPTIONS: writes the URL of each imported or required module to a file.
registerHooks({
  load(url, context, next) {
    appendFileSync('modules.txt', `${url}\n`)
    return next(url, context)
  },
})
