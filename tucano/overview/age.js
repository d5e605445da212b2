(function () {
  var page = document.documentElement, written = Date.parse(page.dataset.written), living = page.dataset.living === "yes";
  function say() {
    var minutes = Math.max(0, Math.floor((Date.now() - written) / 60000));
    document.querySelectorAll("[data-age]").forEach(function (place) {
      place.textContent = place.dataset.age.replace("{}", minutes < 120 ? minutes + " min" : Math.floor(minutes / 60) + " h");
    });
    document.querySelectorAll("[data-stale]").forEach(function (place) { place.hidden = !(living && minutes > 2); });
  }
  say();
  setInterval(say, 15000);
})();
