const NOTHING = '–'

/** A Markdown table without the rows and columns that hold nothing; nothing when none is left. */
export function table(head: string[], rows: string[][]): string {
  const told = rows.filter((row) => row.slice(1).some((cell) => cell !== NOTHING))
  if (told.length === 0) return ''
  const columns = [...head.keys()].filter((at) => told.some((row) => row[at] !== NOTHING))
  const line = (cells: string[]) => `| ${columns.map((at) => cells[at]).join(' | ')} |`
  return [line(head), `|${columns.map((at) => (at === 0 ? '---' : '---:')).join('|')}|`, ...told.map(line)].join('\n')
}
