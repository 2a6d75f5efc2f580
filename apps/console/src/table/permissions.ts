import { contract, ROLES, type Role } from '@resource/contract'
import { editVerb, type Noun, type Resource } from '../resources/resource.ts'
import { useSession } from '../session/session.ts'
import { listed } from '../ui/format.ts'

/** The procedures of a noun that the user's role allows, according to the contract. */
export interface Permissions {
  /** `deleteMatching` stands for a deletion of all matching records. */
  can: (verb: string) => boolean
  /** Whether the role proposes changes of many records instead of making them. */
  isProposing: boolean
  /** One sentence for each missing role, with the actions that need it. */
  reasons: string[]
}

/** Allows everything until the role is loaded; the service enforces the rules in any case. */
export function usePermissions(resource: Resource): Permissions {
  const { session } = useSession()
  const can = (verb: string) => session === undefined || includes(session.role, accessOf(resource.noun, verb))
  const refused = restrictedActions(resource).filter(([, verb]) => !can(verb))
  const reasons = ROLES.flatMap((role) => {
    const labels = refused.filter(([, verb]) => accessOf(resource.noun, verb) === role).map(([label]) => label)
    if (labels.length === 0) return []
    return `${listed(labels)} ${labels.length === 1 ? 'needs' : 'need'} the role ${role}; yours is ${session?.role}.`
  })
  return { can, isProposing: session?.role === 'proposer', reasons }
}

/** Whether the user's role allows a procedure of any resource; false until the role is loaded. */
export function useAllows(procedure: { access?: string | undefined }): boolean {
  return useAllowing()(procedure)
}

/** Which procedures the user's role allows; none until the role is loaded. */
export function useAllowing(): (procedure: { access?: string | undefined }) => boolean {
  const { session } = useSession()
  return ({ access }) => session !== undefined && includes(session.role, roleOf(access))
}

/** A procedure by its name: `items.update`. One that does not exist needs the highest role. */
export function procedureOf(operation: string): { access?: string | undefined } {
  const [noun, verb = ''] = operation.split('.')
  const procedures: Record<string, { access?: string | undefined } | undefined> =
    Object.entries(contract).find(([name]) => name === noun)?.[1].procedures ?? {}
  return procedures[verb] ?? {}
}

/** The actions of the page that can require a role above reader. */
function restrictedActions({ noun, one }: Resource): [label: string, verb: string][] {
  return [
    [`New ${one}`, 'create'],
    ['Import', 'createMany'],
    ['Edit', editVerb(noun)],
    ['Delete', 'delete'],
    ['Delete all matching', 'deleteMatching'],
  ]
}

function accessOf(noun: Noun, verb: string): Role {
  const resource = contract[noun]
  if (verb === 'deleteMatching') return 'collection' in resource ? resource.collection.purgeRole : 'admin'
  return roleOf(procedureOf(`${noun}.${verb}`).access)
}

function roleOf(access: string | undefined): Role {
  return ROLES.find((role) => role === access) ?? 'admin'
}

function includes(role: Role, access: Role): boolean {
  return ROLES.indexOf(role) >= ROLES.indexOf(access)
}
