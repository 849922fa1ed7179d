# XGBoost's C API: the target XGBoost::XGBoost. Debian's libxgboost-dev has no CMake package of its own.
include(FindPackageHandleStandardArgs)
find_path(XGBoost_INCLUDE_DIR xgboost/c_api.h)
find_library(XGBoost_LIBRARY xgboost)
find_package_handle_standard_args(XGBoost REQUIRED_VARS XGBoost_LIBRARY XGBoost_INCLUDE_DIR)
if(XGBoost_FOUND AND NOT TARGET XGBoost::XGBoost)
  add_library(XGBoost::XGBoost SHARED IMPORTED GLOBAL)
  set_target_properties(XGBoost::XGBoost PROPERTIES
    IMPORTED_LOCATION "${XGBoost_LIBRARY}" INTERFACE_INCLUDE_DIRECTORIES "${XGBoost_INCLUDE_DIR}")
endif()
