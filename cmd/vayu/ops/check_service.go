package ops

import (
	"context"
	"crypto/tls"
	"encoding/json"
	"fmt"
	"maps"
	"net/http"
	"slices"
	"time"

	"vayu/cmd/vayu/settings"
	"vayu/ingest/runner"
)

// serviceTimeout limits the request of `vayu doctor` to a running service.
const serviceTimeout = 5 * time.Second

// checkService reports the readiness of the service at the configured address, and the state of its sources. It
// reports no fault if no service runs, because `vayu doctor` also works without one.
func checkService(ctx context.Context, c settings.Config) []finding {
	ctx, done := context.WithTimeout(ctx, serviceTimeout)
	defer done()
	resp, address, err := fetchReadiness(ctx, c)
	if ctx.Err() != nil {
		return []finding{{false, "service", fmt.Sprintf("the service at %s does not answer within %s: it hangs, or was stopped (see ps)", c.Listen, serviceTimeout)}}
	}
	if err != nil {
		return []finding{{true, "service", "nothing listens at " + string(c.Listen) + "; is vayu serve running there? --listen names another address"}}
	}
	defer resp.Body.Close()
	var reply struct {
		Status, ClickHouse, State, Kafka string
		Sources                          map[string]*runner.Status
	}
	if err := json.NewDecoder(resp.Body).Decode(&reply); err != nil {
		return []finding{{false, "service", "the program at " + address + " is not vayu serve"}}
	}
	all := []finding{{resp.StatusCode == http.StatusOK, "service", reply.Status + " at " + address}}
	for _, store := range [...]struct{ name, is string }{{"clickhouse", reply.ClickHouse}, {"state", reply.State}, {"kafka", reply.Kafka}} {
		if store.is != "" && store.is != "ok" {
			all = append(all, finding{false, "service", store.name + " " + store.is})
		}
	}
	for _, name := range slices.Sorted(maps.Keys(reply.Sources)) {
		ok, text := reply.Sources[name].Finding(name)
		all = append(all, finding{ok, "source", text})
	}
	return all
}

// fetchReadiness requests /readyz from the internal listener, whose reply has details. If there is no reply or it is
// not JSON, fetchReadiness requests /readyz from the API. `address` is the URL that replied. The caller must close the
// body.
func fetchReadiness(ctx context.Context, c settings.Config) (resp *http.Response, address string, err error) {
	addresses := []string{c.LocalURL() + readyPath}
	if internal := c.InternalURL(); internal != "" {
		addresses = slices.Insert(addresses, 0, internal+readyPath)
	}
	// The client does not check the certificate, because it is for the public host name. The request stays on this
	// machine and contains no secret.
	client := &http.Client{Transport: &http.Transport{
		TLSClientConfig: &tls.Config{InsecureSkipVerify: true}, DisableKeepAlives: true, //nolint:gosec // see above
	}}
	for _, address = range addresses {
		req, wrong := http.NewRequestWithContext(ctx, http.MethodGet, address, http.NoBody)
		if wrong != nil {
			return nil, address, wrong
		}
		if resp, err = client.Do(req); err != nil {
			continue
		}
		if resp.Header.Get("Content-Type") == "application/json" || address == addresses[len(addresses)-1] {
			return resp, address, nil
		}
		_ = resp.Body.Close() // another program listens at the address of the internal listener
	}
	return nil, address, err
}
