import { appendFileSync } from 'node:fs'
import { registerHooks } from 'node:module'

// Started before the service by NODE_OPTIONS: writes the URL of each module that is loaded, imported or required.
registerHooks({
  load(url, context, next) {
    appendFileSync('modules.txt', `${url}\n`)
    return next(url, context)
  },
})
