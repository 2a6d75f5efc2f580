/** Of what the procedures take and give, without a word about them. `npm run openapi:write` renews it. */
export const CONTRACT_HASH = 'c2290396651c6816'
