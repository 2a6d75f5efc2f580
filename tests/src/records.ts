/** @returns the response body of `GET /books/{id}` for the book, as text */
export async function createBook(url: string): Promise<string> {
  const response = await fetch(`${url}/books`, {
    method: 'POST',
    headers: { 'Content-Type': 'application/json' },
    body: JSON.stringify({ title: 'Emma', author: 'Jane Austen', published_date: '1815-12-23' }),
  })
  return response.text()
}

/** @param count at most 1,000 */
export async function createUsers(url: string, count: number): Promise<void> {
  const users = Array.from({ length: count }, (_, n) => ({ name: `User ${n}`, email: `user${n}@example.com` }))
  const { status } = await fetch(`${url}/api/users/bulk`, {
    method: 'POST',
    headers: { 'Content-Type': 'application/json' },
    body: JSON.stringify(users),
  })
  if (status !== 201) throw new Error(`bulk create of users got status ${status}`)
}
