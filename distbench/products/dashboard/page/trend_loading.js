// Copyright distbench authors
// SPDX-License-Identifier: Apache-2.0

// Loads trends, a few at a time: the server has others to answer.

const MAX_LOADS = 4;

// The last load of each place, and the place of the next one.
const lastLoads = Array(MAX_LOADS).fill(Promise.resolve());
let nextPlace = 0;

// Trends by the id of their series, as promises.
const loadedTrends = new Map();

function loadInTurn(id) {
  const place = nextPlace++ % MAX_LOADS;
  const trend = lastLoads[place].then(() => getJson('/api/trend', {series: id}));
  lastLoads[place] = trend.catch(() => {});
  return trend;
}

function loadTrend(id) {
  if (!loadedTrends.has(id)) {
    const trend = loadInTurn(id);
    trend.catch(() => loadedTrends.delete(id));
    loadedTrends.set(id, trend);
  }
  return loadedTrends.get(id);
}

function hasValue({value}) {
  return value !== null;
}

// The points with a value from this time on.
function pointsSince({points}, start) {
  return points.filter(point => hasValue(point) && point.started >= start);
}

// When the last so many days of the trend begin; 0 days are all.
function startOf({points}, days) {
  return days === 0 || points.length === 0 ? -Infinity : points.at(-1).started - days * DAY_MS;
}
