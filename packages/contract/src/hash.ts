/** Of what the procedures take and give, without a word about them; test/hash.test.ts writes it. */
export const CONTRACT_HASH = '2a2596330cd31cb8'
