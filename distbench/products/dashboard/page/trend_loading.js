// Loads trends, a few at a time: the server has others to answer.

const MAX_LOADS = 4;

let loadCount = 0;
const waitingLoads = [];

// Trends by the id of their series, as promises.
const loadedTrends = new Map();

async function withinLimit(load) {
  if (loadCount === MAX_LOADS) await new Promise(resolve => { waitingLoads.push(resolve); });
  else ++loadCount;
  try {
    return await load();
  } finally {
    // The next one takes over the place.
    const next = waitingLoads.shift();
    if (next === undefined) --loadCount;
    else next();
  }
}

function loadTrend(id) {
  if (!loadedTrends.has(id)) {
    const trend = withinLimit(() => getJson('/api/trend', {series: id}));
    trend.catch(() => loadedTrends.delete(id));
    loadedTrends.set(id, trend);
  }
  return loadedTrends.get(id);
}

function hasValue({value}) {
  return value !== null;
}

// When the last so many days of the trend begin; 0 days are all.
function startOf({points}, days) {
  return days === 0 || points.length === 0 ? -Infinity : points.at(-1).started - days * DAY_MS;
}
