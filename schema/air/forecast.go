package air

import "time"

// Percentiles has the 10th, 50th and 90th percentile of a predicted concentration or AQI, and the model that computed
// them. Concentrations are in µg/m³, but those of CO are in mg/m³.
type Percentiles struct {
	P10   float64 `json:"p10"`
	P50   float64 `json:"p50"`
	P90   float64 `json:"p90"`
	Model string  `json:"model"`
}

// CategoryChances are the probabilities of the categories of the AQI, 0 to 1.
type CategoryChances struct {
	Good         float64 `json:"Good"`
	Satisfactory float64 `json:"Satisfactory"`
	Moderate     float64 `json:"Moderate"`
	Poor         float64 `json:"Poor"`
	VeryPoor     float64 `json:"Very Poor"`
	Severe       float64 `json:"Severe"`
}

// ForecastDay is the forecast of one Indian day. A pollutant or AQI without a forecast is nil. Category is that of the
// 50th percentile of the AQI. Horizon is the number of days from the last day with data to the day of the forecast.
type ForecastDay struct {
	Date       string           `json:"date"`
	Horizon    int              `json:"horizon"`
	AQI        *Percentiles     `json:"aqi"`
	Category   *string          `json:"category"`
	Categories *CategoryChances `json:"categories"`
	PM25       *Percentiles     `json:"pm25"`
	PM10       *Percentiles     `json:"pm10"`
	NO2        *Percentiles     `json:"no2"`
	SO2        *Percentiles     `json:"so2"`
	CO         *Percentiles     `json:"co"`
	O3         *Percentiles     `json:"o3"`
}

// ForecastScore compares the forecasts that were shown for a place with the observations, and with persistence (the
// last day repeated). Errors are in units of the AQI, or in µg/m³ for hourly forecasts. Coverage80 is the share of
// observations between the 10th and the 90th percentile.
type ForecastScore struct {
	Days             int     `json:"days"`
	Forecasts        uint64  `json:"forecasts"`
	MAE              float64 `json:"mae"`
	PersistenceMAE   float64 `json:"persistence_mae"`
	Coverage80       float64 `json:"coverage80"`
	BeatsPersistence bool    `json:"beats_persistence"`
}

// ForecastStation is the station whose forecast is returned for a position.
type ForecastStation struct {
	ID         string  `json:"id"`
	Name       string  `json:"name"`
	DistanceKM float64 `json:"distance_km"`
}

// Forecast is the reply to GET /v1/forecast. Score is nil until a forecast can be compared with observations. If the
// forecast is persistence (the last day repeated), Reason says why. Otherwise Reason is nil.
type Forecast struct {
	Status   string           `json:"status"`
	City     string           `json:"city"`
	Station  *ForecastStation `json:"station,omitempty"`
	IssuedAt time.Time        `json:"issued_at"`
	Model    string           `json:"model"`
	Reason   *string          `json:"reason"`
	FittedAt time.Time        `json:"fitted_at"`
	Days     []ForecastDay    `json:"days"`
	Score    *ForecastScore   `json:"score"`
	// Hourly has the hourly forecasts, or nil if the request has no parameter hours.
	Hourly *HourlyForecast `json:"hourly,omitempty"`
}

// HourlyForecast has the forecasts of PM2.5 for the next hours. Base is the end of the last hour whose data the
// forecasts use. If Hours is empty, Reason says why. Base, IssuedAt and FittedAt are nil if no forecast was issued.
// Score compares the forecasts up to 48 hours ahead with the observations, in µg/m³. Score is nil until a comparison
// is possible.
type HourlyForecast struct {
	Base     *time.Time     `json:"base"`
	IssuedAt *time.Time     `json:"issued_at"`
	FittedAt *time.Time     `json:"fitted_at"`
	Reason   *string        `json:"reason"`
	Hours    []ForecastHour `json:"hours"`
	Score    *ForecastScore `json:"score"`
}

// ForecastHour is the forecast of the mean PM2.5 of one hour of the Indian clock. At is the end of the hour, in UTC.
type ForecastHour struct {
	At   time.Time   `json:"at"`
	PM25 Percentiles `json:"pm25"`
}

// ModelScore is the score of one model for one parameter and horizon. Errors are in the unit of the parameter.
type ModelScore struct {
	Parameter  string  `json:"parameter"`
	Horizon    uint8   `json:"horizon"`
	Model      string  `json:"model"`
	Forecasts  uint64  `json:"forecasts"`
	Served     uint64  `json:"served"`
	MAE        float64 `json:"mae"`
	RMSE       float64 `json:"rmse"`
	Bias       float64 `json:"bias"`
	Coverage80 float64 `json:"coverage80"`
}

// WarningScore counts how often the AQI forecasts of a model predicted or missed an event. An event is a category, or
// an AQI over a limit.
type WarningScore struct {
	Event       string  `json:"event"`
	Horizon     uint8   `json:"horizon"`
	Model       string  `json:"model"`
	Forecasts   uint64  `json:"forecasts"`
	Hits        uint64  `json:"hits"`
	Misses      uint64  `json:"misses"`
	FalseAlarms uint64  `json:"false_alarms"`
	Brier       float64 `json:"brier"`
}

// Reliability compares the predicted probability of an event with its frequency. It covers the forecasts whose
// probability is in the same tenth, such as 0.3 to 0.4. Probability is the mean of their probabilities. Frequency is
// the share of them after which the event occurred. Both are 0 to 1.
type Reliability struct {
	Event       string  `json:"event"`
	Model       string  `json:"model"`
	Probability float64 `json:"probability"`
	Frequency   float64 `json:"frequency"`
	Forecasts   uint64  `json:"forecasts"`
}

// ForecastScores is the reply to GET /v1/forecast/score. City is nil for all cities together.
type ForecastScores struct {
	Status   string         `json:"status"`
	City     *string        `json:"city"`
	Days     int            `json:"days"`
	Models   []ModelScore   `json:"models"`
	Warnings []WarningScore `json:"warnings"`
	// Reliability has the reliability of the forecasts of all horizons together.
	Reliability []Reliability `json:"reliability"`
}
