import { createClient } from '@resource/client'
import { requireLogin } from './session/session.ts'

/** The client for the service that serves this page. */
export const client = createClient({ baseUrl: window.location.origin, onUnauthorized: requireLogin })
