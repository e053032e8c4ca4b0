// Command calls makes ten requests to the API with the Go client that oapi-codegen generates.
package main

import (
	"context"
	"fmt"
	"net/http"
	"os"

	"generators/vayu"
)

func main() {
	if err := run(context.Background()); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
	fmt.Println("oapi-codegen: 10 calls")
}

func run(ctx context.Context) error {
	authorize := vayu.WithRequestEditorFn(func(_ context.Context, r *http.Request) error {
		r.Header.Set("Authorization", "Bearer "+os.Getenv("KEY"))
		return nil
	})
	api, err := vayu.NewClientWithResponses(os.Getenv("API"), authorize)
	if err != nil {
		return err
	}
	if err := air(ctx, api); err != nil {
		return err
	}
	return money(ctx, api)
}

func air(ctx context.Context, api *vayu.ClientWithResponses) error {
	delhi, two, atlantis, limit := "Delhi", "Delhi,Mumbai", "Atlantis", 1
	day, kinds, radius := vayu.GetAirQualityParamsInterval("day"), vayu.GetAirQualityParamsKinds("reference"), 25.0
	now, err := api.GetAirQualityWithResponse(ctx, &vayu.GetAirQualityParams{City: &delhi, Interval: &day, Kinds: &kinds})
	if err != nil || now.JSON200 == nil {
		return fmt.Errorf("Delhi now: %w, %s", err, now.Body)
	}
	if record, err := now.JSON200.AsRecord(); err != nil || record.Aqi == 0 {
		return fmt.Errorf("Delhi now: %w, %s", err, now.Body)
	}
	many, err := api.GetAirQualityWithResponse(ctx, &vayu.GetAirQualityParams{Cities: &two})
	if err != nil || many.JSON200 == nil {
		return fmt.Errorf("two cities: %w, %s", err, many.Body)
	}
	if bulk, err := many.JSON200.AsBulk(); err != nil || bulk.Count != 2 {
		return fmt.Errorf("two cities: %w, %s", err, many.Body)
	}
	cities, err := api.ListCitiesWithResponse(ctx, &vayu.ListCitiesParams{Limit: &limit})
	if err != nil || cities.JSON200 == nil || len(cities.JSON200.Data) != 1 {
		return fmt.Errorf("cities: %w, %s", err, cities.Body)
	}
	near, err := api.ListStationsWithResponse(ctx, &vayu.ListStationsParams{RadiusKm: &radius, Limit: &limit})
	if err != nil || near.JSON200 == nil || len(near.JSON200.Data) != 1 {
		return fmt.Errorf("stations: %w, %s", err, near.Body)
	}
	station, err := api.GetStationWithResponse(ctx, near.JSON200.Data[0].Id, &vayu.GetStationParams{})
	if err != nil || station.JSON200 == nil || station.JSON200.City != near.JSON200.Data[0].City {
		return fmt.Errorf("a station: %w, %s", err, station.Body)
	}
	refused, err := api.GetAirQualityWithResponse(ctx, &vayu.GetAirQualityParams{City: &atlantis})
	if err != nil || refused.JSON404 == nil {
		return fmt.Errorf("Atlantis: %w, %s", err, refused.Body)
	}
	return nil
}

func money(ctx context.Context, api *vayu.ClientWithResponses) error {
	account, err := api.GetAccountWithResponse(ctx, &vayu.GetAccountParams{})
	if err != nil || account.JSON200 == nil {
		return fmt.Errorf("account: %w, %s", err, account.Body)
	}
	topup, err := api.CreateTopupWithResponse(ctx, &vayu.CreateTopupParams{}, vayu.CreateTopupJSONRequestBody{Amount: 500.29, RefId: new("go")})
	if err != nil || topup.JSON200 == nil || topup.JSON200.Amount != 500.29 {
		return fmt.Errorf("top-up: %w, %s", err, topup.Body)
	}
	order := vayu.CreateRechargeJSONRequestBody{Mobile: new("9000000001"), Operator: "auto", Amount: 19.35, Type: "prepaid", RefId: "go"}
	recharge, err := api.CreateRechargeWithResponse(ctx, &vayu.CreateRechargeParams{}, order)
	if err != nil || recharge.JSON200 == nil || recharge.JSON200.Amount != 19.35 {
		return fmt.Errorf("recharge: %w, %s", err, recharge.Body)
	}
	person := vayu.CreateVerificationJSONRequestBody{Vpa: new("success@upi"), RefId: new("go")}
	verified, err := api.CreateVerificationWithResponse(ctx, &vayu.CreateVerificationParams{}, person)
	if err != nil || verified.JSON200 == nil || !verified.JSON200.Verified {
		return fmt.Errorf("verification: %w, %s", err, verified.Body)
	}
	return nil
}
