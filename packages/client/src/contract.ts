// The contract with its zod schemas, for `createClient({ check: contract })`: a module of its own, so that who does not
// check answers does not load zod.
export { contract } from '@resource/contract'
