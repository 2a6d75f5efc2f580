// The client of openapi-generator for Go. Argument: the service's base URL.
package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"reflect"
	"regexp"
	"strings"

	"example.com/client/generated"
)

func main() {
	ctx := context.Background()
	configuration := generated.NewConfiguration()
	configuration.Servers = generated.ServerConfigurations{{URL: os.Args[1]}}
	items := generated.NewAPIClient(configuration).ItemsAPI

	// Create
	created, _, err := items.CreateItem(ctx).CreateItemBody(*generated.NewCreateItemBody("Rug", 16777217.25)).Execute()
	check(err)
	rug := created.Item
	equal(rug.Id, int32(1))
	equal(rug.Price, 16777217.25)
	equal(rug.Category.Get(), (*string)(nil))

	// Bulk create
	var bodies []generated.ItemCreate
	for n := 1; n <= 5; n++ {
		body := *generated.NewItemCreate(fmt.Sprintf("Lamp %d", n), float64(n))
		body.SetCategory("lighting")
		bodies = append(bodies, body)
	}
	lamps, _, err := items.CreateItems(ctx).ItemCreate(bodies).Execute()
	check(err)
	equal(len(lamps), 5)

	// List with a filter and a cursor
	next := regexp.MustCompile(`[?&]after=([\w-]+)>; rel="next"`)
	var names []string
	pages := 0
	for after, more := "", true; more; pages++ {
		page, response, err := items.ListItems(ctx).Category("lighting").Limit(2).After(after).Execute()
		check(err)
		for _, item := range page {
			names = append(names, item.Name)
		}
		link := next.FindStringSubmatch(response.Header.Get("Link"))
		if more = link != nil; more {
			after = link[1]
		}
	}
	equal(names, []string{"Lamp 1", "Lamp 2", "Lamp 3", "Lamp 4", "Lamp 5"})
	equal(pages, 3)

	// Get with an ETag
	id := int64(rug.Id)
	read, response, err := items.GetItem(ctx, id).Execute()
	check(err)
	equal(*read, rug)
	etag := response.Header.Get("ETag")
	equal(strings.HasPrefix(etag, `"1-`), true)

	// Conditional update
	update := generated.NewUpdateItemBody()
	update.SetPrice(30)
	changed, _, err := items.UpdateItem(ctx, id).UpdateItemBody(*update).IfMatch(etag).Execute()
	check(err)
	equal(changed.Price, 30.0)
	update.SetPrice(31)
	_, response, err = items.UpdateItem(ctx, id).UpdateItemBody(*update).IfMatch(etag).Execute()
	equal(response.StatusCode, 412)
	equal(strings.HasPrefix(message(err), "Item has changed"), true)

	// Validation error
	_, response, err = items.CreateItem(ctx).CreateItemBody(*generated.NewCreateItemBody("", 1)).Execute()
	equal(response.StatusCode, 400)
	equal(message(err), "name: must be text of 1 to 200 characters")

	// Delete
	deleted, _, err := items.DeleteItem(ctx, id).Execute()
	check(err)
	equal(deleted.Message, "Item deleted")
	_, _, err = items.GetItem(ctx, id).Execute()
	equal(message(err), "Item not found")

	fmt.Println("ok")
}

func check(err error) {
	if err != nil {
		panic(err)
	}
}

func message(err error) string {
	var failure *generated.GenericOpenAPIError
	if !errors.As(err, &failure) {
		panic(fmt.Sprintf("not an error response: %v", err))
	}
	return failure.Model().(generated.ErrorMessage).Message
}

func equal(actual, expected any) {
	if !reflect.DeepEqual(actual, expected) {
		panic(fmt.Sprintf("%v must be %v", actual, expected))
	}
}
