/** Whoever watches the service must learn how it is when it is worst, and is no part of what it does. */
export const HEALTH = new Set(['/healthz', '/readyz'])
export const WATCHED = new Set([...HEALTH, '/metrics'])
