/** @returns the book as a later `GET /books/{id}` answers it, as text */
export async function createBook(url: string): Promise<string> {
  const response = await fetch(`${url}/books`, {
    method: 'POST',
    headers: { 'Content-Type': 'application/json' },
    body: JSON.stringify({ title: 'Emma', author: 'Jane Austen', published_date: '1815-12-23' }),
  })
  return response.text()
}
