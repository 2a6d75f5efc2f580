import { contract as declared } from '@resource/contract'
import type { Contract } from '@resource/openapi/client'

// A separate module, so that zod is loaded only for checks.
/** The contract with its zod schemas, for `createClient({ check: contract })`. */
export const contract: Contract = declared
