import type { Noun } from '../resources/resource.ts'
import { useActor } from './actor.ts'

/** Who has just changed a record. */
export function By({ noun, id, version }: { noun: Noun; id: number; version: number }) {
  const actor = useActor(noun, id, version)
  return (
    actor !== undefined && (
      <span className="by">
        <span className="dot live" /> <bdi translate="no">{actor}</bdi>
      </span>
    )
  )
}
