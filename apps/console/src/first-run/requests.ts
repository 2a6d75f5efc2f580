/**
 * The first request in several languages: it creates an item.
 *
 * @param origin the address of the service
 * @param key an API key; undefined while the service needs none
 */
export function firstRequests(origin: string, key: string | undefined): Record<string, string> {
  const given = (text: string) => (key === undefined ? '' : text)
  return {
    cURL: `curl ${origin}/items \\
${given(`  -H 'Authorization: Bearer ${key}' \\\n`)}  -H 'Content-Type: application/json' \\
  -d '{"name": "Desk lamp", "price": 24.5, "category": "lighting"}'`,

    TypeScript: `// npm install ${origin}/client.tgz
import { createClient } from '@resource/client'

const client = createClient({ baseUrl: '${origin}'${given(`, apiKey: '${key}'`)} })
const item = await client.items.create.mutate({ name: 'Desk lamp', price: 24.5, category: 'lighting' })
console.log(item)`,

    Python: `# pip install requests
import requests

answer = requests.post(
    '${origin}/items',
${given(`    headers={'Authorization': 'Bearer ${key}'},\n`)}    json={'name': 'Desk lamp', 'price': 24.5, 'category': 'lighting'},
)
print(answer.json())`,

    Go: `package main

import (
	"io"
	"net/http"
	"os"
	"strings"
)

func main() {
	body := strings.NewReader(\`{"name":"Desk lamp","price":24.5,"category":"lighting"}\`)
	req, _ := http.NewRequest("POST", "${origin}/items", body)
	req.Header.Set("Content-Type", "application/json")
${given(`	req.Header.Set("Authorization", "Bearer ${key}")\n`)}	res, err := http.DefaultClient.Do(req)
	if err != nil {
		panic(err)
	}
	io.Copy(os.Stdout, res.Body)
}`,
  }
}
