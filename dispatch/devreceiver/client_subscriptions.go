package devreceiver

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"regexp"

	"vayu/schema"
)

// createRequest is the body of POST /v1/webhooks.
type createRequest struct {
	URL    string             `json:"url"`
	Events []schema.EventType `json:"events"`
	Secret string             `json:"secret,omitempty"`
}

func (c *Client) create(ctx context.Context, w createRequest) (schema.WebhookReply, error) {
	var made schema.WebhookReply
	if w.Events = c.Events; len(w.Events) == 0 {
		w.Events = schema.EventTypes
	}
	body, err := json.Marshal(w) //nolint:gosec // the secret goes to the service, which needs it
	if err != nil {
		return made, err
	}
	if err := c.do(ctx, http.MethodPost, "/v1/webhooks", body, &made); err != nil {
		return made, fmt.Errorf("making the subscription: %w", err)
	}
	if !plainID.MatchString(made.ID) || made.Secret == "" && w.Secret == "" {
		return made, fmt.Errorf("making the subscription: what answers on %s is no Vayu: its reply has no id or no secret", c.API)
	}
	return made, nil
}

// plainID matches ids that need no escaping in paths and shells.
var plainID = regexp.MustCompile(`^[0-9A-Za-z_-]{1,64}$`)

// pageSize and maxPages bound a list of subscriptions. A page with the longest URLs is smaller than
// maxReply. All pages together have room for more subscriptions than an account may have.
const (
	pageSize = 200
	maxPages = 100
)

// leading returns the ids of the subscriptions whose URL is the given address.
func (c *Client) leading(ctx context.Context, address string) ([]string, error) {
	var ids []string
	path := fmt.Sprintf("/v1/webhooks?limit=%d", pageSize)
	next := path
	for range maxPages {
		var page schema.List[schema.Webhook]
		if err := c.do(ctx, http.MethodGet, next, nil, &page); err != nil {
			return nil, err
		}
		for _, w := range page.Data {
			if w.URL == address && plainID.MatchString(w.ID) {
				ids = append(ids, w.ID)
			}
		}
		if page.NextCursor == nil {
			break
		}
		next = path + "&cursor=" + url.QueryEscape(*page.NextCursor)
	}
	return ids, nil
}

// remove deletes a subscription. If the subscription does not exist, it returns nil.
func (c *Client) remove(ctx context.Context, id string) error {
	err := c.do(ctx, http.MethodDelete, "/v1/webhooks/"+id, nil, new(schema.WebhookDeleted))
	if refused, ok := errors.AsType[*refusalError](err); ok && refused.Code == schema.NotFound {
		return nil
	}
	return err
}

func (c *Client) test(ctx context.Context, id string) error {
	return c.do(ctx, http.MethodPost, "/v1/webhooks/"+id+"/test", []byte("{}"), new(schema.WebhookTested))
}

// account returns the name of the key's account. It returns "" after an error, for example if the
// key lacks the scope account:read.
func (c *Client) account(ctx context.Context) string {
	var account schema.Account
	if c.do(ctx, http.MethodGet, "/v1/account", nil, &account) != nil {
		return ""
	}
	return account.Name
}
