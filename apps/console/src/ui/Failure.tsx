import { Button } from 'react-aria-components'
import { useIsOnline } from '../shell/OfflineBar.tsx'
import { wordsOf } from './words.ts'

interface Props {
  title: string
  error: Error
  onRetry: () => void
}

/** What stands in the place of something that could not be loaded. */
export function Failure({ title, error, onRetry }: Props) {
  const isOnline = useIsOnline()
  return (
    <div className="state failure" role="alert">
      <h2>{isOnline ? title : 'You are offline'}</h2>
      <p>{isOnline ? wordsOf(error) : 'This was not loaded before. Connect and try again.'}</p>
      <Button className="button" onPress={onRetry}>
        Try again
      </Button>
    </div>
  )
}
