/** Of what the procedures take and give, without a word about them. `npm run openapi:write` renews it. */
export const CONTRACT_HASH = 'c1a69d0066e9306b'
