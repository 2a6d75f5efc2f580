import { z } from 'zod'

// Without this, zod probes eval while it creates the contract's schemas, and the Content-Security-Policy blocks and
// reports the probe. This module must therefore be imported first.
z.config({ jitless: true })
