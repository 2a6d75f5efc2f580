const NO_VALUE = '–'

/** A Markdown table without its empty rows and columns; an empty string when all are empty. */
export function table(head: string[], rows: string[][]): string {
  const filled = rows.filter((row) => row.slice(1).some((cell) => cell !== NO_VALUE))
  if (filled.length === 0) return ''
  const columns = [...head.keys()].filter((at) => filled.some((row) => row[at] !== NO_VALUE))
  const line = (cells: string[]) => `| ${columns.map((at) => cells[at]).join(' | ')} |`
  return [line(head), `|${columns.map((at) => (at === 0 ? '---' : '---:')).join('|')}|`, ...filled.map(line)].join('\n')
}
