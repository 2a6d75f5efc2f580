/** Of what the procedures take and give, without a word about them. `npm run openapi:write` renews it. */
export const CONTRACT_HASH = '9cd05bd87a910d96'
