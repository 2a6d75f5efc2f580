import type { ReactNode } from 'react'
import { Button } from './Button.tsx'
import { wordsOf } from './words.ts'

interface Props {
  /** Has no data. */
  query: { error: Error | null; fetchStatus: string; refetch: () => unknown }
  /** What has happened, when it cannot be loaded. */
  title: string
  /** Stands there while it loads. */
  children: ReactNode
}

/** What stands in the place of something that is not loaded: on its way, without a network, or failed. */
export function Missing({ query, title, children }: Props) {
  const { error, fetchStatus, refetch } = query
  if (fetchStatus === 'paused') {
    return (
      <div className="state" role="status">
        <h2>You are offline</h2>
        <p>This was not loaded before. It comes by itself when you are back.</p>
      </div>
    )
  }
  if (error === null) return children
  return (
    <div className="state failure" role="alert">
      <h2>{title}</h2>
      <p>{wordsOf(error)}</p>
      <Button onPress={() => void refetch()}>Try again</Button>
    </div>
  )
}
