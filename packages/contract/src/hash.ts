/** A hash of all input and output schemas, without descriptions. `npm run openapi:write` updates it. */
export const CONTRACT_HASH = 'bc7b5610f61378f2'
