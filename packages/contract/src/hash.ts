/** Of what the procedures take and give, without a word about them. `npm run openapi:write` renews it. */
export const CONTRACT_HASH = 'e5336a47b14d02cd'
