import { ModalDialog } from '../ui/ModalDialog.tsx'
import { usePreferences } from '../ui/preferences.ts'

const SHORTCUTS: [keys: string[], does: string][] = [
  [['Ctrl', 'K'], 'Search the service or jump to a page; on a Mac, Cmd K'],
  [['/'], 'Search the list'],
  [['?'], 'Show these shortcuts'],
  [['J', 'K'], 'Move to the next or the previous row; X selects it'],
  [['Arrow keys'], 'Move between the cells of a table; Home, End, Page Up and Page Down move further'],
  [['Enter'], 'Open the record of the cell'],
  [['F2'], 'Edit the cell, as a double click does; Enter saves and Esc cancels'],
  [['Space'], 'Select the row'],
  [['Ctrl', 'Z'], 'Undo the last edit that is not undone; on a Mac, Cmd Z'],
  [['Ctrl', 'Y'], 'Redo the edit that was undone last, as Ctrl Shift Z does'],
  [['Esc'], 'Close a dialog or a panel'],
]

/** The list of keyboard shortcuts. */
export default function Shortcuts({ onClose }: { onClose: () => void }) {
  const hasKeyShortcuts = usePreferences((preferences) => preferences.hasKeyShortcuts)
  return (
    <ModalDialog title="Keyboard shortcuts" onClose={onClose}>
      <dl className="shortcuts">
        {SHORTCUTS.map(([keys, does]) => (
          <div key={does}>
            <dt>
              {keys.map((key) => (
                <kbd key={key}>{key}</kbd>
              ))}
            </dt>
            <dd>{does}</dd>
          </div>
        ))}
      </dl>
      <label className="inline">
        <input
          type="checkbox"
          checked={hasKeyShortcuts}
          onChange={() => usePreferences.setState({ hasKeyShortcuts: !hasKeyShortcuts })}
        />
        <span>
          Use single keys such as <kbd>/</kbd> and <kbd>?</kbd> as shortcuts
        </span>
      </label>
    </ModalDialog>
  )
}
