import { contract, ROLES, type Role, VALUE_ROLES } from '@resource/contract'
import { editVerb, type Noun, type Resource } from '../resources/resource.ts'
import { useSession } from '../session/session.ts'

/** The procedures of a noun that the user's role allows, according to the contract. */
export interface Permissions {
  /** `deleteMatching` stands for a batch that deletes. */
  can: (verb: string) => boolean
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
  return { can, reasons }
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

interface Procedure {
  access?: string | undefined
  input: { shape: Record<string, { meta: () => Record<string, unknown> | undefined } | undefined> }
}

function accessOf(noun: Noun, verb: string): Role {
  const procedures: Record<string, Procedure | undefined> = contract[noun].procedures
  if (verb === 'deleteMatching') {
    const roles = procedures.createBatch?.input.shape.action?.meta()?.[VALUE_ROLES]
    return (roles as { delete?: Role } | undefined)?.delete ?? accessOf(noun, 'createBatch')
  }
  return ROLES.find((role) => role === procedures[verb]?.access) ?? 'admin'
}

function includes(role: Role, access: Role): boolean {
  return ROLES.indexOf(role) >= ROLES.indexOf(access)
}

function listed(labels: string[]): string {
  return new Intl.ListFormat('en').format(labels)
}
