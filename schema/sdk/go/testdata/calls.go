// Command calls makes eleven calls to a real service with the packed module, and compares a list with the contract.
// .ci/sdk compiles and runs it.
package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"os"
	"slices"
	"strings"
	"time"

	vayu "vayu.example/sdk"
	"vayu.example/sdk/contract"
)

func main() {
	client := &vayu.Client{BaseURL: os.Getenv("API"), Key: vayu.StaticKey(os.Getenv("KEY"))}
	ctx, cancel := context.WithTimeout(context.Background(), time.Minute)
	defer cancel()
	for _, run := range []func(context.Context, *vayu.Client) error{air, money, refusals} {
		if err := run(ctx, client); err != nil {
			fmt.Fprintln(os.Stderr, err)
			os.Exit(1)
		}
	}
	fmt.Println("go: 11 calls")
}

func query(pairs ...string) vayu.Call {
	values := url.Values{}
	for i := 0; i < len(pairs); i += 2 {
		values.Set(pairs[i], pairs[i+1])
	}
	return vayu.Call{Query: values}
}

func air(ctx context.Context, c *vayu.Client) error {
	var now contract.Record
	if err := c.Get(ctx, "/v1/aqi", query("city", "Delhi", "interval", "day", "kinds", "reference"), &now); err != nil || now.City != "Delhi" {
		return fmt.Errorf("Delhi has no record: %+v %w", now, err)
	}
	var many contract.Bulk
	if err := c.Get(ctx, "/v1/aqi", query("cities", "Delhi,Mumbai"), &many); err != nil || many.Count != 2 {
		return fmt.Errorf("two cities: %+v %w", many, err)
	}
	cities := 0
	for _, err := range vayu.Entries[contract.City](ctx, c, "/v1/cities", query("limit", "40")) {
		if cities++; err != nil {
			return err
		}
	}
	var near struct{ Data []contract.Station }
	if err := c.Get(ctx, "/v1/stations", query("near", "28.61,77.21", "radius_km", "25", "limit", "1"), &near); err != nil || len(near.Data) != 1 || cities <= 40 {
		return fmt.Errorf("%d cities, %d stations: %w", cities, len(near.Data), err)
	}
	var one contract.Station
	id := near.Data[0].Id
	if err := c.Get(ctx, "/v1/stations/{id}", vayu.Call{Path: map[string]string{"id": id}}, &one); err != nil || one.City != near.Data[0].City {
		return fmt.Errorf("station %s: %+v %w", id, one, err)
	}
	return nil
}

func money(ctx context.Context, c *vayu.Client) error {
	var account contract.Account
	if err := c.Get(ctx, "/v1/account", vayu.Call{}, &account); err != nil || account.Id == "" {
		return fmt.Errorf("account: %+v %w", account, err)
	}
	var topups [2]struct {
		Amount    float64
		PaymentID string `json:"payment_id"`
	}
	for i := range topups {
		body := map[string]any{"amount": 500.29, "method": "upi", "ref_id": "go"}
		if err := c.Post(ctx, "/v1/wallet/topups", vayu.Call{IdempotencyKey: "calls-go"}, body, &topups[i]); err != nil {
			return err
		}
	}
	if topups[0] != topups[1] || topups[0].Amount != 500.29 {
		return fmt.Errorf("the top-up is not idempotent: %+v", topups)
	}
	var recharge contract.Recharge
	order := map[string]any{"mobile": "9000000001", "operator": "auto", "amount": 19.35, "type": "prepaid", "ref_id": "go"}
	if err := c.Post(ctx, "/v1/recharge", vayu.Call{}, order, &recharge); err != nil || recharge.TransactionId == "" {
		return fmt.Errorf("recharge: %+v %w", recharge, err)
	}
	var verification contract.Verification
	if err := c.Post(ctx, "/v1/bank/verify", vayu.Call{}, map[string]string{"vpa": "success@upi", "ref_id": "go"}, &verification); err != nil {
		return fmt.Errorf("verification: %+v %w", verification, err)
	}
	return nil
}

func refusals(ctx context.Context, c *vayu.Client) error {
	err := c.Get(ctx, "/v1/aqi", query("city", "Atlantis"), nil)
	if p, ok := errors.AsType[*vayu.ProblemError](err); !ok || p.Code != "location_not_found" || p.Field != "city" {
		return fmt.Errorf("Atlantis: %w", err)
	}
	return comparePosts(ctx, c)
}

// comparePosts compares the POSTs without Idempotency-Key with the contract.
func comparePosts(ctx context.Context, c *vayu.Client) error {
	resp, err := c.Response(ctx, "/openapi.json", vayu.Call{})
	if err != nil {
		return err
	}
	defer resp.Body.Close()
	text, err := io.ReadAll(resp.Body)
	if err != nil || resp.StatusCode != http.StatusOK {
		return fmt.Errorf("contract: status %d, %w", resp.StatusCode, err)
	}
	without, err := postsWithoutKey(text)
	want := vayu.PostsWithoutKey()
	slices.Sort(want)
	if err != nil || !slices.Equal(without, want) {
		return fmt.Errorf("POSTs without Idempotency-Key: %s, want %s (%w)", strings.Join(without, " "), want, err)
	}
	return nil
}
