// The client of openapi-generator for Java with java.net.http. Argument: the service's base URL.
import com.fasterxml.jackson.databind.ObjectMapper;
import java.util.ArrayList;
import java.util.List;
import java.util.Objects;
import java.util.regex.Pattern;
import java.util.stream.IntStream;
import org.openapitools.client.ApiClient;
import org.openapitools.client.ApiException;
import org.openapitools.client.api.ItemsApi;
import org.openapitools.client.model.CreateItemBody;
import org.openapitools.client.model.ErrorMessage;
import org.openapitools.client.model.ItemCreate;
import org.openapitools.client.model.UpdateItemBody;

public class Native {
  private interface Call {
    void run() throws ApiException;
  }

  public static void main(String[] args) throws Exception {
    var client = new ApiClient();
    client.updateBaseUri(args[0]);
    var items = new ItemsApi(client);

    // Create
    var rug = items.createItem(new CreateItemBody().name("Rug").price(16777217.25), null, null, null, null).getItem();
    equal(rug.getId(), 1);
    equal(rug.getPrice(), 16777217.25);
    equal(rug.getCategory(), null);

    // Bulk create
    var bodies = IntStream.rangeClosed(1, 5)
        .mapToObj(n -> new ItemCreate().name("Lamp " + n).price((double) n).category("lighting"))
        .toList();
    equal(items.createItems(bodies, null, null, null, null).size(), 5);

    // List with a filter and a cursor
    var next = Pattern.compile("[?&]after=([\\w-]+)>; rel=\"next\"");
    var names = new ArrayList<String>();
    var pages = 0;
    for (var after = ""; after != null; pages++) {
      var page = items.listItemsWithHttpInfo(
          "lighting", null, null, null, null, null, null, null, null, null, 2L, null, after, null, null);
      for (var item : page.getData()) names.add(item.getName());
      var link = next.matcher(page.getHeaders().get("link").get(0));
      after = link.find() ? link.group(1) : null;
    }
    equal(names, List.of("Lamp 1", "Lamp 2", "Lamp 3", "Lamp 4", "Lamp 5"));
    equal(pages, 3);

    // Get with an ETag
    var id = rug.getId().longValue();
    var read = items.getItemWithHttpInfo(id, null, null);
    equal(read.getData(), rug);
    var etag = read.getHeaders().get("etag").get(0);
    equal(etag.startsWith("\"1-"), true);

    // Conditional update
    var changed = items.updateItem(id, new UpdateItemBody().price(30.0), null, null, etag, null, null);
    equal(changed.getPrice(), 30.0);
    var stale = failure(() -> items.updateItem(id, new UpdateItemBody().price(31.0), null, null, etag, null, null));
    equal(stale.getCode(), 412);
    equal(message(stale).startsWith("Item has changed"), true);

    // Validation error
    var invalid = failure(() -> items.createItem(new CreateItemBody().name("").price(1.0), null, null, null, null));
    equal(invalid.getCode(), 400);
    equal(message(invalid), "name: must be text of 1 to 200 characters");

    // Delete
    equal(items.deleteItem(id, null, null, null, null).getMessage(), "Item deleted");
    equal(message(failure(() -> items.getItem(id, null, null))), "Item not found");

    System.out.println("ok");
  }

  private static ApiException failure(Call call) {
    try {
      call.run();
    } catch (ApiException error) {
      return error;
    }
    throw new AssertionError("the call must fail");
  }

  private static String message(ApiException error) throws Exception {
    return new ObjectMapper().readValue(error.getResponseBody(), ErrorMessage.class).getMessage();
  }

  private static void equal(Object actual, Object expected) {
    if (!Objects.equals(actual, expected)) throw new AssertionError(actual + " must be " + expected);
  }
}
