import { createClient } from '@resource/client'
import { requireLogin } from './session/session.ts'

/** The options of every client of this page. */
export const options = { baseUrl: window.location.origin, onUnauthorized: requireLogin }

/** The client for the service that serves this page. */
export const client = createClient(options)

/** For figures of the frame: no call delays those of the page, or asks for a key before one of them does. */
export const background = createClient({ baseUrl: options.baseUrl, batch: false })

/** Each call has a request of its own: a write can be undone alone, and a read delays no other. */
export const writer = createClient({ ...options, batch: false })
