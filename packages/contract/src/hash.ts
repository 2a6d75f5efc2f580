/** Of what the procedures take and give, without a word about them; test/hash.test.ts writes it. */
export const CONTRACT_HASH = 'e62803c5d5f30266'
