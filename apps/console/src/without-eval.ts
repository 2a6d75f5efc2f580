import { z } from 'zod'

// zod would try whether it may make code at run time, which the Content-Security-Policy stops and reports. It asks while
// the contract's schemas are made, so this module must be the first to run.
z.config({ jitless: true })
