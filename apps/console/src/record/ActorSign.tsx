import { Bot, UserRound } from 'lucide-react'
import { useIsProgram } from './history.ts'

interface Props {
  /** Undefined if only administrators may know. */
  actor: string | undefined
  /** In a circle, a person has the first letter of this name. */
  name?: string
}

/** The sign of who did something, next to the name: that of a program or of a person. */
export function ActorSign({ actor, name }: Props) {
  const isProgram = useIsProgram(actor ?? null)
  const Icon = isProgram ? Bot : UserRound
  if (name === undefined) return <Icon />
  return (
    <span className="avatar" aria-hidden="true">
      {isProgram ? <Bot /> : [...name][0]?.toUpperCase()}
    </span>
  )
}
