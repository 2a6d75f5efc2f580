/** A hash of all input and output schemas, without descriptions. `npm run openapi:write` updates it. */
export const CONTRACT_HASH = '16197d38aa4822c5'
