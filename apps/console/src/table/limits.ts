import { contract, ROLES, type Role } from '@resource/contract'
import { editVerb, type Noun, type Resource } from '../resources/resource.ts'
import { useSession } from '../session/session.ts'

/** What the role of who is logged in allows with a noun, by the contract. */
export interface Limits {
  may: (verb: string) => boolean
  /** A sentence for each role that is wanting, saying for what. */
  reasons: string[]
}

/** Everything is allowed as long as the role is not known: the service has the last word. */
export function useLimits(resource: Resource): Limits {
  const { session } = useSession()
  const may = (verb: string) => session === undefined || includes(session.role, accessOf(resource.noun, verb))
  const refused = doings(resource).filter(([, verb]) => !may(verb))
  const reasons = ROLES.flatMap((role) => {
    const labels = refused.filter(([, verb]) => accessOf(resource.noun, verb) === role).map(([label]) => label)
    if (labels.length === 0) return []
    return `${listed(labels)} ${labels.length === 1 ? 'needs' : 'need'} the role ${role}; yours is ${session?.role}.`
  })
  return { may, reasons }
}

/** What the page offers beside reading. */
function doings({ noun, one, purge }: Resource): [label: string, verb: string][] {
  return [
    [`New ${one}`, 'create'],
    ['Import', 'createMany'],
    ['Edit', editVerb(noun)],
    ['Delete', 'delete'],
    ...(purge === undefined ? [] : [[purge.label, purge.verb] as [string, string]]),
  ]
}

function accessOf(noun: Noun, verb: string): Role {
  const procedures: Record<string, { access: Role } | undefined> = contract[noun].procedures
  return procedures[verb]?.access ?? 'admin'
}

function includes(role: Role, access: Role): boolean {
  return ROLES.indexOf(role) >= ROLES.indexOf(access)
}

function listed(labels: string[]): string {
  return new Intl.ListFormat('en').format(labels)
}
