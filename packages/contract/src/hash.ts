/** A hash of all input and output schemas, without descriptions. `npm run openapi:write` updates it. */
export const CONTRACT_HASH = 'f610e10671e4f5e3'
