import { createClient } from '@resource/client'

/** The service that this page came from. */
export const client = createClient({ baseUrl: window.location.origin })
