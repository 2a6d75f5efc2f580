import type { Contract } from '@resource/contract'
import type { TypesOf } from '@resource/openapi/client'

/** The types of every procedure, by noun. The build replaces this file by interfaces, which have names and comments. */
export interface Api extends TypesOf<Contract> {}
