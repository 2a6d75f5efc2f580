/** A hash of all input and output schemas, without descriptions. `npm run openapi:write` updates it. */
export const CONTRACT_HASH = 'bfe10ab4d45fa600'
