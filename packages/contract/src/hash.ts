/** Of what the procedures take and give, without a word about them. `npm run openapi:write` renews it. */
export const CONTRACT_HASH = 'bba14128080f9b18'
