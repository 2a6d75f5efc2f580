import { useActorName } from './history.ts'

/** The name of who did something: that of an API key instead of its number. */
export function Actor({ actor }: { actor: string }) {
  return <bdi translate="no">{useActorName(actor)}</bdi>
}
