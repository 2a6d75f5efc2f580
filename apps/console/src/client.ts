import { createClient } from '@resource/client'
import { requireLogin } from './session/session.ts'

/** The options of every client of this page. */
export const options = { baseUrl: window.location.origin, onUnauthorized: requireLogin }

/** The client for the service that serves this page. */
export const client = createClient(options)

/** For writes: each has a request of its own, so that it can be undone alone. */
export const writer = createClient({ ...options, batch: false })
