// The contract with its zod schemas, for `createClient({ check: contract })`. A separate module, so that zod is loaded
// only for checks.
export { contract } from '@resource/contract'
