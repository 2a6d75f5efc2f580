import { useState } from 'react'
import { Button } from '../ui/Button.tsx'
import { ModalDialog } from '../ui/ModalDialog.tsx'
import { Progress } from '../ui/Progress.tsx'
import { QuestionDialog } from '../ui/QuestionDialog.tsx'
import { describeWork, type Work } from '../ui/work.ts'

interface Props {
  work: Work
  onClose: () => void
}

/** The details of long work that has no dialog of its own. Closing it stops nothing. */
export default function WorkDialog({ work, onClose }: Props) {
  const { title, done, total, stop, consequence } = work
  const [isAsked, setAsked] = useState(false)
  return (
    <ModalDialog title={title} onClose={onClose}>
      <Progress label={describeWork(work)} value={done} total={total} />
      <footer>
        {stop !== undefined && <Button onPress={() => setAsked(true)}>Stop…</Button>}
        <Button className="button primary" onPress={onClose}>
          Continue in the background
        </Button>
      </footer>
      {isAsked && stop !== undefined && (
        <QuestionDialog
          title="Stop it?"
          keep="Continue"
          act="Stop"
          onKeep={() => setAsked(false)}
          onAct={() => {
            stop()
            onClose()
          }}
        >
          <p>{consequence}</p>
        </QuestionDialog>
      )}
    </ModalDialog>
  )
}
