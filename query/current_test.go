package query_test

import (
	"testing"
)

func TestSmoke(t *testing.T) {
	w := india(t)
	for _, p := range []string{"/v1/aqi?city=Delhi", "/v1/aqi?city=pune", "/v1/aqi?city=pune&view=detail", "/v1/aqi?city=Aurangabad", "/v1/aqi?city=Aurangabad,%20Bihar", "/v1/aqi?city=Kochi",
		"/v1/aqi?city=Delhi&date=2026-11-19", "/v1/aqi?city=pune&date=2026-11-19", "/v1/aqi?city=Delhi&from=2026-11-18&to=2026-11-20", "/v1/aqi?city=Delhi&from=2026-11-18&to=2026-11-20&interval=hour",
		"/v1/aqi?cities=Delhi,Aurangabad,Bihar,Atlantis,Delhi", "/v1/aqi?lat=18.5&lon=73.85&view=detail", "/v1/aqi?lat=28.64&lon=77.25", "/v1/aqi?lat=15&lon=85", "/v1/cities", "/v1/stations?near=28.6,77.2&radius_km=50", "/v1/stations/cpcb-lonavala", "/v1/aqi?citty=x", "/v1/aqi?city=Dehli+city", "/v1/aqi?city=Pone", "/v1/aqi?pincode=110001"} {
		status, h, body := w.get(t, p)
		t.Log(p, status, body, h)
	}
}
