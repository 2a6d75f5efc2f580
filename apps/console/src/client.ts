import { createClient } from '@resource/client'
import { askForKey } from './session/session.ts'

/** The service that this page came from. */
export const client = createClient({ baseUrl: window.location.origin, onUnauthorized: askForKey })
